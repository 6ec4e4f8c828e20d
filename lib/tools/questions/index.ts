import type { ToolServices } from "../services.ts";
import type { Tool } from "../tool.ts";
import { elicitUserInput } from "./elicit-user-input.ts";

/** The tools that ask people on the session page. */
export const peopleTools = (services: Pick<ToolServices, "people">): Tool[] => [elicitUserInput(services)];
