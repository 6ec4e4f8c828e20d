/**
 * Returns the `Content-Disposition` of a response that browsers save as a file. The name must be ASCII without quotes.
 */
export const attachment = (filename: string): string => `attachment; filename="${filename}"`;
