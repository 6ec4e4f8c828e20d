import { shorten } from "#lib/text/shorten.ts";
import type { ControlRecord } from "./control-state.ts";

/** Longest name, name of a field and address that the model is shown, in characters. */
const NAME_MAX = 80;
const ADDRESS_MAX = 500;

/** Quotes a text that a person or a page has written. */
const quote = (text: string, max = NAME_MAX) => JSON.stringify(shorten(text, max));

/** Describes to the model what a person did while they had control of the browser. Begins with one sentence of facts. */
export function describeControl({ note, address, ...record }: ControlRecord): string {
  const name = quote(record.name);
  const place = address === null ? "" : `; the page was then at ${quote(address, ADDRESS_MAX)}`;
  const facts = `${name}, a person, had control of the browser and ${describeEnd(record)}: ${describeDeeds(record)}${place}.`;
  return note === null ? facts : `${facts} Note from this person to you: ${JSON.stringify(note)}`;
}

function describeEnd({ reason, takenBy }: Pick<ControlRecord, "reason" | "takenBy">): string {
  switch (reason) {
    case "given_back":
      return "gave it back";
    case "taken":
      return takenBy === null ? "lost it to another person" : `lost it to ${quote(takenBy)}`;
    case "idle":
      return "lost it, because there was no input for a while";
    case "away":
      return "left the page";
    case "revoked":
      return "may not control it any more";
    case "host":
      return "lost it with the browser";
  }
}

function describeDeeds({ clicks, fields }: Pick<ControlRecord, "clicks" | "fields">): string {
  const filled = fields.length === 0 ? [] : [`filled ${fields.map((field) => quote(field)).join(", ")}`];
  const clicked = clicks === 0 ? [] : [clicks === 1 ? "1 click" : `${clicks} clicks`];
  const deeds = [...clicked, ...filled];
  return deeds.length === 0 ? "without clicking or typing" : deeds.join(", ");
}
