import { parentPort } from "node:worker_threads";
import { contract } from "../../contract/contract.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Failure } from "../errors.ts";
import { checkBody } from "./parse-body.ts";

// Entry point of the thread that parses large bodies. Each message contains one body; the answers are sent in the same
// order.

/** A body to check. It must match the body schema of `operation`. If `operation` is undefined, no schema applies. */
export type BodyJob = {
  bytes: Uint8Array<ArrayBuffer>;
  operation: Pick<Operation, "method" | "path"> | undefined;
};

export type BodyAnswer = { ok: true; value: unknown; hash: string } | Failure;

function findOperation({ method, path }: Pick<Operation, "method" | "path">): Operation {
  const operations: Operation[] = Object.values(contract);
  const operation = operations.find((candidate) => candidate.method === method && candidate.path === path);
  if (!operation?.body) throw new Error(`the contract has no body for ${method} ${path}`);
  return operation;
}

function answerJob({ bytes, operation }: BodyJob): BodyAnswer {
  const checked = checkBody(bytes, operation && findOperation(operation));
  return checked.ok ? { ok: true, value: checked.value, hash: checked.hash() } : checked;
}

parentPort?.on("message", (job: BodyJob) => parentPort?.postMessage(answerJob(job)));
