import type { RequestKind } from "../../fixtures/scripted-model/types.ts";
import type { PromptFacts } from "./read-prompt.ts";

/** Returns the milliseconds of the machine's monotonic clock, which is the same for all processes of the machine. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/**
 * A line of the recorder's log: bytes on a connection, or an event of one of the recorder's servers. `atMs` is a time of
 * the monotonic clock.
 */
export type RecordedLine = { atMs: number } & (
  | { type: "bytes"; server: ServerName; connection: number; from: "service" | "recorder"; base64: string }
  | ({
      type: "model";
      index: number;
      outcome: "open" | "answered" | "cut" | "client-left";
      kind: RequestKind;
      nonce: string;
      userText: string;
      answersSoFar: number;
      toolResults: string[];
    } & PromptFacts)
  | {
      type: "callback";
      path: string;
      delivery: string;
      event: string;
      signature: string | null;
      body: string;
      /** The number of this request to the receiver. The `callback-end` line of the request has the same number. */
      exchange: number;
      firstByteAtMs: number;
    }
  | { type: "callback-end"; exchange: number; status: number | null }
  | { type: "page"; path: string }
  | { type: "tools"; fault: string; did: "list" | "begin" | "end"; nonce: string }
);

export type ServerName = "model" | "receiver";

/** A line of one type. */
export type LineOf<Type extends RecordedLine["type"]> = Extract<RecordedLine, { type: Type }>;
