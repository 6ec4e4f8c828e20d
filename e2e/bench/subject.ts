/** A server that plays the measured turns: the service, or a baseline. */
export type Subject = {
  name: "service" | "bare loop" | "minimal loop" | "agent server";
  pid: number;
  baseUrl: string;
  createPath: string;
  headers: Record<string, string>;
  /** Returns the request body that starts a turn with this text. */
  bodyOf: (text: string) => unknown;
};
