/** The part of a message that tells the oracle how to behave (`kind`), and identifies the message (`nonce`). */
export type Tag = { kind: string; nonce: string };

/** The text of a message with this tag. The oracle follows the last tag of a prompt. */
export const writeTag = ({ kind, nonce }: Tag): string => `<<${kind} n=${nonce}>> Please do it.`;

/** The tags of a text, in order. */
export const readTags = (text: string): Tag[] =>
  [...text.matchAll(/<<([\w:-]+) n=(\w+)>>/g)].map(([, kind = "", nonce = ""]) => ({ kind, nonce }));

/** The last tag of a text. */
export const readTag = (text: string): Tag | undefined => readTags(text).at(-1);
