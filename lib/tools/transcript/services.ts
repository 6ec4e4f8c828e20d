import type { ToolServices } from "../services.ts";

/** What the transcript tools work through. */
export type TranscriptServices = Pick<ToolServices, "transcript" | "evidence">;
