/** Puts a text on one line: replaces each run of white space with one space, and trims both ends. */
export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
