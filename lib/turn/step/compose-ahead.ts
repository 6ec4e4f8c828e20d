import type { ModelMessage } from "ai";
import { type ComposedCall, composeCall, type ModelRequest } from "#lib/model/calls/stream-model.ts";
import { resultsOfOpenCalls } from "../history/history.ts";
import { hasPictures } from "../prompt/show-pictures.ts";
import type { CallAhead, RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";

/**
 * Composes the model call that will follow a step, while the step is being written. The call is only sent after the
 * write, by {@link consumeComposed}; if the write, or anything after it, changes the prompt, the composed call is dropped.
 * Call this directly before the write. Does nothing if another call of the answer has no result yet, or if the prompt
 * has pictures, which are read from storage. Source: decision 057.
 *
 * @param added the messages that the step adds for the model.
 */
export function composeAhead(
  { model }: Pick<TurnDeps, "model">,
  run: RunInPlay,
  added: readonly ModelMessage[],
): void {
  dropComposed(run);
  if (!model.hold) return;
  const messages = [...run.history.messages, ...added];
  if (resultsOfOpenCalls(messages).length > 0 || hasPictures(messages)) return;
  const { instructions, modelTools: tools } = run.prompt;
  const ahead: CallAhead = { request: { instructions, messages, tools }, call: undefined };
  run.ahead = ahead;
  // Composed when the statement of the write has been sent, so that the database works meanwhile.
  setImmediate(() => {
    if (run.ahead === ahead && !run.signal.aborted) ahead.call = composeCall(model, ahead.request);
  });
}

/** Returns the composed call of a request, which the caller then makes; undefined if there is none. */
export function consumeComposed(run: RunInPlay, request: ModelRequest): ComposedCall | undefined {
  const { ahead } = run;
  if (!ahead || !isSame(ahead.request, request)) {
    dropComposed(run);
    return undefined;
  }
  run.ahead = undefined;
  return ahead.call;
}

/** Drops a composed call that is not made. */
export function dropComposed(run: RunInPlay): void {
  run.ahead?.call?.drop();
  run.ahead = undefined;
}

const isSame = (one: ModelRequest, other: ModelRequest): boolean =>
  one.instructions === other.instructions &&
  one.tools === other.tools &&
  one.messages.length === other.messages.length &&
  one.messages.every((message, index) => message === other.messages[index]);
