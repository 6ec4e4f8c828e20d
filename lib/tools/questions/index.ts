import type { ToolServices } from "../services.ts";
import type { Tool } from "../tool.ts";
import { elicitUserInput } from "./elicit-user-input.ts";
import { requestHandover } from "./request-handover.ts";

/** The tools that ask people. */
export const peopleTools = (
  services: Pick<ToolServices, "people" | "handovers" | "pages" | "control" | "browser">,
): Tool[] => [elicitUserInput(services), requestHandover(services)];
