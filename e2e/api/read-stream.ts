import { createParser, type EventSourceMessage } from "eventsource-parser";

/** An event of a stream. Its `data` is parsed JSON. */
export type StreamedEvent = { id?: string; event?: string; data: Record<string, unknown> };

/** Parses the text of a complete stream. */
export function parseEvents(text: string): StreamedEvent[] {
  const events: StreamedEvent[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(toEvent(event)) });
  parser.feed(text);
  return events;
}

/**
 * Reads an open stream until `isEnough` returns true or the stream ends, and closes it.
 *
 * @returns the events that were read.
 */
export async function followUntil(
  response: Response,
  isEnough: (events: StreamedEvent[]) => boolean,
): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(toEvent(event)) });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (reader && !isEnough(events)) {
    const { value, done } = await reader.read();
    if (done) break;
    parser.feed(value);
  }
  await reader?.cancel();
  return events;
}

const toEvent = ({ id, event, data }: EventSourceMessage): StreamedEvent => ({
  ...(id !== undefined && { id }),
  ...(event !== undefined && { event }),
  data: JSON.parse(data),
});
