import type { ToolServices } from "../services.ts";

/** What the workspace tools work through. */
export type WorkspaceServices = Pick<ToolServices, "sandbox" | "evidence" | "fetch">;
