import type { HostileInput } from "../hostile-input.ts";
import { answerInputs } from "./answers.ts";
import { commandInputs } from "./commands.ts";
import { pageInputs } from "./pages.ts";
import { requestInputs } from "./requests.ts";
import { scriptInputs } from "./scripts.ts";

/** Every input. To add one, add it to the list of its group. */
export const INPUTS: readonly HostileInput[] = [
  ...scriptInputs,
  ...pageInputs,
  ...commandInputs,
  ...answerInputs,
  ...requestInputs,
];
