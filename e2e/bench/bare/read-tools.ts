import { jsonSchema, type ToolSet, tool } from "ai";
import type { Prompt } from "../model/main.ts";

const RESULT = '{\n "total": 0,\n "evidence": []\n}';

/**
 * Returns the service's tools in the form in which a loop of the AI SDK needs them. Each tool returns the same short result
 * at once.
 */
export const readTools = ({ tools }: Prompt): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters), execute: async () => RESULT }),
    ]),
  );
