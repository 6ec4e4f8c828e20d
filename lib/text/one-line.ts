/** A text in one line: each run of white space is a space, and there is none at its ends. */
export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
