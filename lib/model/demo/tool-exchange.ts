/** A tool call of the transcript with its result, if it has one. */
export type ToolExchange = {
  id: string;
  toolName: string;
  input: Record<string, unknown>;
  result?: { isError: boolean; text: string };
};
