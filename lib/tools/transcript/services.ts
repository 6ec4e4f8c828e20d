import type { ToolServices } from "../services.ts";

/** The services that the transcript tools use. */
export type TranscriptServices = Pick<ToolServices, "transcript" | "evidence">;
