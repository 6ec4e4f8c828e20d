/** Text as a database column and JSON can hold it: NUL and halves of characters become the replacement character. */
export const storableText = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();
