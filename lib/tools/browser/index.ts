import type { ToolServices } from "../services.ts";
import type { Tool } from "../tool.ts";
import { browserExecute } from "./browser-execute.ts";
import { browserSearch } from "./browser-search.ts";
import { capturePreview } from "./capture-preview.ts";
import { domQuery } from "./dom-query.ts";
import { inspectFrames } from "./inspect-frames.ts";
import { saveCleanedHtml } from "./save-cleaned-html.ts";
import { screenshot } from "./screenshot.ts";

/** The tools that work on the live browser. Each call holds the browser from before its start until its end. */
export function browserTools(services: BrowserToolServices): Tool[] {
  const acquire: Tool["acquire"] = ({ sessionId, signal }) => services.browser.hold(sessionId, signal);
  return makeTools(services).map((tool) => ({ ...tool, acquire }));
}

type BrowserToolServices = Pick<ToolServices, "browser" | "control" | "scripts" | "evidence">;

const makeTools = (services: BrowserToolServices): Tool[] => [
  browserExecute(services),
  browserSearch(services),
  domQuery(services),
  inspectFrames(services),
  capturePreview(services),
  saveCleanedHtml(services),
  screenshot(services),
];
