const SHOWN_MAX = 12_000;
const HEAD = 9_000;
const TAIL = 2_000;

/** A tool's text as the model is shown it: whole up to 12,000 characters, otherwise its beginning and end. */
export function cutResult(text: string, resultId: string): string {
  if (text.length <= SHOWN_MAX) return text;
  const left = text.length - HEAD - TAIL;
  return `${text.slice(0, HEAD).toWellFormed()}\n\n[… ${left} of ${text.length} characters left out; read on with read_tool_result, resultId ${resultId}, offset ${HEAD} …]\n\n${text.slice(-TAIL).toWellFormed()}`;
}
