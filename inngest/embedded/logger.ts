/** The part of the service's logger that the engine uses: object first, then the sentence. */
export type EngineLogger = Record<
  "debug" | "info" | "warn" | "error",
  (fields: object, message: string) => void
>;
