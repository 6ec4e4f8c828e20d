import type { ToolServices } from "../services.ts";

/** The services that the workspace tools use. */
export type WorkspaceServices = Pick<ToolServices, "sandbox" | "evidence" | "fetch">;
