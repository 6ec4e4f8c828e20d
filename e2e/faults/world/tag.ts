/** What a message asks of the oracle: its behaviour, and the session it belongs to. */
export type Tag = { kind: string; nonce: string };

/** Writes a tag into a message; the oracle obeys the last one that it sees. */
export const writeTag = ({ kind, nonce }: Tag): string => `<<${kind} n=${nonce}>> Please do it.`;

/** The tags of a text, in their order. */
export const readTags = (text: string): Tag[] =>
  [...text.matchAll(/<<([\w:-]+) n=(\w+)>>/g)].map(([, kind = "", nonce = ""]) => ({ kind, nonce }));

/** The last tag of a text. */
export const readTag = (text: string): Tag | undefined => readTags(text).at(-1);
