import type { Tool } from "../tool.ts";
import { fetchUrl } from "./fetch/fetch-url.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { runShell } from "./run-shell.ts";
import type { WorkspaceServices } from "./services.ts";
import { viewImage } from "./view-image.ts";
import { writeFile } from "./write-file.ts";

/** The tools of the workspace, and `fetch_url`. */
export const workspaceTools = (services: WorkspaceServices): Tool[] => [
  readFile(services),
  writeFile(services),
  listFiles(services),
  runShell(services),
  viewImage(services),
  fetchUrl(services),
];
