/** What a message asks of the oracle: its behaviour, and the session it belongs to. */
export type Tag = { kind: string; nonce: string };

/** Writes a tag into a message; the oracle obeys the last one that it sees. */
export const writeTag = ({ kind, nonce }: Tag): string => `<<${kind} n=${nonce}>> Please do it.`;

/** The last tag of a text. */
export function readTag(text: string): Tag | undefined {
  const found = [...text.matchAll(/<<([\w:-]+) n=(\w+)>>/g)].at(-1);
  return found && { kind: found[1] ?? "", nonce: found[2] ?? "" };
}
