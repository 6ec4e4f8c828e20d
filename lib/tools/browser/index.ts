import type { ToolServices } from "../services.ts";
import type { Tool } from "../tool.ts";
import { browserExecute } from "./browser-execute.ts";
import { browserSearch } from "./browser-search.ts";
import { capturePreview } from "./capture-preview.ts";
import { domQuery } from "./dom-query.ts";
import { inspectFrames } from "./inspect-frames.ts";
import { saveCleanedHtml } from "./save-cleaned-html.ts";
import { screenshot } from "./screenshot.ts";

/** The tools that work on the live browser. */
export const browserTools = (
  services: Pick<ToolServices, "browser" | "control" | "scripts" | "evidence">,
): Tool[] => [
  browserExecute(services),
  browserSearch(services),
  domQuery(services),
  inspectFrames(services),
  capturePreview(services),
  saveCleanedHtml(services),
  screenshot(services),
];
