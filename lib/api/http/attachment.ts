/** The `Content-Disposition` of an answer that browsers save under a name of plain letters. */
export const attachment = (filename: string): string => `attachment; filename="${filename}"`;
