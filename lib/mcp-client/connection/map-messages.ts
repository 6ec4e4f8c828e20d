/** Changes one JSON-RPC message of a server; returns the message itself if nothing has to change. */
type MapMessage = (message: unknown) => unknown;

/** Matches JSON text that may contain a property whose value is null. Other texts are not parsed. */
const MAY_HAVE_NULL = /:\s*null\b/;
const EVENT_END = /\r\n\r\n|\n\n|\r\r/g;
const EVENT_END_MAX = "\r\n\r\n".length;

/**
 * Returns the response with its JSON-RPC messages changed by `map`: the messages of a JSON body, or of the events of a
 * stream. Only messages with a null are parsed; everything else passes unchanged, and so does what is not JSON. An event
 * is kept until it is complete, so `response` must limit the size of a message.
 */
export function mapMessages(response: Response, map: MapMessage): Response {
  if (!response.body) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  /** The pieces of the event, or of the JSON body, that is not complete yet. */
  let pieces: string[] = [];
  let tail = "";

  /** Adds text. @returns the events that are complete now. */
  function mapNewEvents(text: string): string {
    let last = -1;
    if (isStream)
      for (const { index, 0: end } of (tail + text).matchAll(EVENT_END))
        last = index + end.length - tail.length;
    tail = (tail + text).slice(-EVENT_END_MAX + 1);
    if (last < 0) {
      pieces.push(text);
      return "";
    }
    const complete = pieces.join("") + text.slice(0, last);
    pieces = [text.slice(last)];
    return mapEvents(complete, map);
  }

  const transform = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const events = mapNewEvents(decoder.decode(chunk, { stream: true }));
      if (events !== "") controller.enqueue(encoder.encode(events));
    },
    flush(controller) {
      const rest = pieces.join("") + decoder.decode();
      const mapped = isStream ? mapEvents(rest, map) : mapText(rest, map);
      if (mapped !== "") controller.enqueue(encoder.encode(mapped));
    },
  });
  const { status, statusText, headers, url } = response;
  const mapped = new Response(response.body.pipeThrough(transform), { status, statusText, headers });
  return Object.defineProperty(mapped, "url", { value: url });
}

const mapEvents = (events: string, map: MapMessage): string =>
  MAY_HAVE_NULL.test(events)
    ? events
        .split(/(?<=\r\n\r\n|\n\n|\r\r)/)
        .map((event) => mapEvent(event, map))
        .join("")
    : events;

/** Changes the message in the `data` lines of one event. */
function mapEvent(event: string, map: MapMessage): string {
  if (!MAY_HAVE_NULL.test(event)) return event;
  const lines = event.split(/\r\n|\n|\r/).filter((line) => line !== "");
  const isData = (line: string) => line.startsWith("data:");
  const data = lines.filter(isData).map((line) => line.slice("data:".length).replace(/^ /, ""));
  const text = data.join("\n");
  const mapped = mapText(text, map);
  if (mapped === text) return event;
  return `${[...lines.filter((line) => !isData(line)), `data: ${mapped}`].join("\n")}\n\n`;
}

/** Changes the message in a JSON text, or each message of a batch. */
function mapText(text: string, map: MapMessage): string {
  if (!MAY_HAVE_NULL.test(text)) return text;
  try {
    const message: unknown = JSON.parse(text);
    const mapped = Array.isArray(message) ? message.map(map) : map(message);
    return mapped === message ? text : JSON.stringify(mapped);
  } catch {
    return text;
  }
}
