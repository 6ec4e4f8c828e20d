/** One message of an event stream. `id` and `event` are absent if the message does not contain the field. */
export type StreamMessage = { id?: string; event?: string; data: string };

/** Parses an event stream whose text arrives in chunks. Source: the HTML standard, Server-sent events. */
type EventStreamParser = {
  feed: (text: string) => StreamMessage[];
  retryMs: () => number | undefined;
};

/** Creates a parser for one connection. */
export function createEventStreamParser(): EventStreamParser {
  let rest = "";
  let isFirst = true;
  let message: { id?: string; event?: string; data: string[] } = { data: [] };
  let retryMs: number | undefined;

  function parseLine(line: string): StreamMessage | undefined {
    if (line === "") {
      const { data, ...fields } = message;
      message = { data: [] };
      return data.length > 0 ? { ...fields, data: data.join("\n") } : undefined;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") message.data.push(value);
    else if (field === "event") message.event = value;
    else if (field === "id" && !value.includes("\0")) message.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) retryMs = Number(value);
    return undefined;
  }

  return {
    feed(text) {
      rest += isFirst ? text.replace(/^\uFEFF/, "") : text;
      if (rest !== "") isFirst = false;
      // A carriage return at the end of a chunk may be the first half of CRLF. Its line is therefore not parsed before
      // the next chunk arrives.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      return lines.flatMap((line) => parseLine(line) ?? []);
    },
    retryMs: () => retryMs,
  };
}
