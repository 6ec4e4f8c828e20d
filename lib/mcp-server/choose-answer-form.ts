/** The media types in which a message can be answered. */
export const ANSWER_TYPES = { json: "application/json", stream: "text/event-stream" } as const;
export type AnswerForm = keyof typeof ANSWER_TYPES;

/**
 * Chooses the form of the answer by the request's `Accept` header: the preferred form if the client accepts it, otherwise
 * the other one. A request without the header accepts everything. The protocol asks clients to name both types, but
 * general HTTP clients send ranges such as any type, or only JSON.
 *
 * @returns undefined if the client accepts neither.
 */
export function chooseAnswerForm(accept: string | null, preferred: AnswerForm): AnswerForm | undefined {
  const forms: AnswerForm[] = preferred === "json" ? ["json", "stream"] : ["stream", "json"];
  if (accept === null || accept.trim() === "") return preferred;
  const ranges = accept.split(",").map(readRange);
  return forms.find((form) => accepts(ranges, ANSWER_TYPES[form]));
}

type MediaRange = { type: string; isRefused: boolean };

function readRange(text: string): MediaRange {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  return { type, isRefused: parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter)) };
}

/** Whether a type is accepted. The most specific range that matches the type decides. */
function accepts(ranges: MediaRange[], type: string): boolean {
  const matching = [type, `${type.split("/")[0]}/*`, "*/*"];
  const range = matching.flatMap((name) => ranges.filter((each) => each.type === name))[0];
  return range !== undefined && !range.isRefused;
}
