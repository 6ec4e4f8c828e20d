import { jsonSchema, type ToolSet, tool } from "ai";
import type { Prompt } from "../model/main.ts";

const RESULT = '{\n "total": 0,\n "evidence": []\n}';

/** Converts the service's tools to tools of the AI SDK. Each of them returns the same short result at once. */
export const readTools = ({ tools }: Prompt): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters), execute: async () => RESULT }),
    ]),
  );
