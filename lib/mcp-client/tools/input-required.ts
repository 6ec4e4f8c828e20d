import { z } from "zod";
import type { WaitEnd } from "#db/schema/unions.ts";
import type { Elicitations } from "#lib/session/elicitation/elicitation.ts";
import type { CallRounds } from "../call-rounds.ts";
import { askedForm, planQuestion } from "../connection/plan-question.ts";
import { McpFailure, ServiceError } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";
import { redactStrings } from "../redact-secrets.ts";
import { type McpTurn, QUESTIONS_MAX } from "../tool-server.ts";
import type { RawAnswer } from "./read-answer.ts";

/** What a server asks for before it can answer a call, in the revision 2026-07-28. */
export type InputRequired = { requests: Record<string, unknown>; requestState?: string | undefined };

/** What the client sends with the repetition of a call. */
export type InputGiven = { inputResponses: Record<string, unknown>; requestState?: string | undefined };

/** A call that waits for a person. `expiresAt` is when the first question expires. */
export type McpWaiting = { waitsFor: string[]; expiresAt: Date };

/** One exchange of questions. `first` is the number of its first question within the call. */
const roundSchema = z.object({
  requests: z.record(z.string(), z.unknown()),
  requestState: z.string().optional(),
  first: z.int(),
});
type Round = z.output<typeof roundSchema>;

const requestSchema = z.looseObject({ method: z.string(), params: z.looseObject({}).nullish() });

/** How often a server may ask within one call. */
const ROUNDS_MAX = 32;
/** Maximum size of what a server asks for and of its state together, in characters of JSON. */
const ROUND_MAX = 262_144;

type InputDeps = {
  elicitations: Pick<Elicitations, "ask">;
  rounds: CallRounds;
  limits: McpLimits;
  turn: McpTurn;
  serverId: string;
  call: {
    callId: string;
    /** Whether the call may have asked already. */
    mayHaveAsked?: boolean | undefined;
    /** How the wait for the answers ended. */
    waitEndedBy?: WaitEnd | undefined;
  };
  redact: (text: string) => string;
};

/**
 * Sends a call until the server answers it. If the server needs a person, the questions are stored together with what the
 * server needs to go on, and the call waits. When it is made again, it continues from there. Source: decision 153.
 *
 * @param send sends the call, with the answers to the server's questions if there are any.
 * @throws McpFailure if the server asks for something else than a form; ServiceError if a question could not be stored.
 */
export async function answerInputs(
  deps: InputDeps,
  send: (given: InputGiven | undefined) => Promise<RawAnswer | InputRequired>,
): Promise<(RawAnswer & { isDeclined: boolean }) | McpWaiting> {
  const { call } = deps;
  let { waitEndedBy } = call;
  let round = call.mayHaveAsked ? await readRound(deps) : undefined;
  let isDeclined = false;
  let asked = 0;
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
    let given: InputGiven | undefined;
    if (round) {
      const settled = await settle(deps, round, waitEndedBy);
      if ("waitsFor" in settled) return settled;
      waitEndedBy = undefined;
      isDeclined ||= settled.isDeclined;
      asked = round.first - 1 + Object.keys(round.requests).length;
      const { inputResponses } = settled;
      given = { inputResponses, requestState: round.requestState };
    }
    const outcome = await send(given);
    if (!("requests" in outcome)) {
      const { sessionId, runId } = deps.turn;
      if (round && !isDeclined)
        await inService(deps.rounds.remove({ sessionId, runId, callId: call.callId }));
      return { ...outcome, isDeclined };
    }
    round = { ...outcome, first: asked + 1 };
  }
  throw new McpFailure(`the server asked ${ROUNDS_MAX} times and did not answer`);
}

async function readRound({ rounds, turn, call }: InputDeps): Promise<Round | undefined> {
  const { sessionId, runId } = turn;
  const stored = await inService(rounds.read({ sessionId, runId, callId: call.callId }));
  return stored === undefined ? undefined : roundSchema.parse(JSON.parse(stored));
}

/** Waits for work of the service itself. @throws ServiceError if it fails. */
const inService = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw new ServiceError(error);
  });

type Settled = { inputResponses: Record<string, unknown>; isDeclined: boolean };

/** Asks the questions of a round that are not asked yet. @returns the answers, or what the call waits for. */
async function settle(
  { elicitations, rounds, limits, turn, serverId, call, redact }: InputDeps,
  round: Round,
  waitEndedBy: WaitEnd | undefined,
): Promise<Settled | McpWaiting> {
  const text = JSON.stringify(round);
  if (text.length > ROUND_MAX) throw new McpFailure("the server asks for more than can be stored");
  const { sessionId, runId } = turn;
  const inputResponses: Record<string, unknown> = {};
  const open: { id: string; expiresAt: Date }[] = [];
  let isStored = false;
  for (const [index, [key, raw]] of Object.entries(round.requests).entries()) {
    const request = requestSchema.safeParse(raw);
    if (!request.success || request.data.method !== "elicitation/create")
      throw new McpFailure("the server asks for something that this client does not offer");
    const number = round.first + index;
    const form = askedForm(request.data.params);
    const plan = turn.mayAskPeople && number <= QUESTIONS_MAX && form && planQuestion(serverId, form);
    if (!plan) {
      inputResponses[key] = { action: "decline" };
      continue;
    }
    const asking = { sessionId, runId, callId: number === 1 ? call.callId : `${call.callId}/${number}` };
    const question = {
      ...redactStrings(plan.question, redact),
      timeoutMs: turn.answerTimeoutMs ?? limits.parkedAnswerMs,
    };
    // Stored before the first question, because a question that is found later must belong to this round.
    if (!isStored) await inService(rounds.store({ sessionId, runId, callId: call.callId }, text));
    isStored = true;
    const end = await inService(elicitations.ask(asking, question, waitEndedBy));
    if (end.state === "open") open.push(end);
    else inputResponses[key] = plan.toResult(end);
  }
  const isDeclined = !turn.mayAskPeople && Object.keys(inputResponses).length > 0;
  if (open.length === 0) return { inputResponses, isDeclined };
  const expiresAt = new Date(Math.min(...open.map((each) => each.expiresAt.getTime())));
  return { waitsFor: open.map(({ id }) => id), expiresAt };
}
