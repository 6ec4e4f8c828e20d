/** The part of a message that the scripted model reads. `kind` selects the model's behaviour; `nonce` is unique. */
export type Tag = { kind: string; nonce: string };

/** Returns the text of a message with this tag. The scripted model acts on the last tag of a prompt. */
export const writeTag = ({ kind, nonce }: Tag): string => `<<${kind} n=${nonce}>> Please do it.`;

/** Reads the tags in a text, in order. */
export const readTags = (text: string): Tag[] =>
  [...text.matchAll(/<<([\w:-]+) n=(\w+)>>/g)].map(([, kind = "", nonce = ""]) => ({ kind, nonce }));

/** Reads the last tag in a text; undefined if the text has no tag. */
export const readTag = (text: string): Tag | undefined => readTags(text).at(-1);
