import type { Task } from "./task.ts";
import { filesTasks } from "./tasks/files.ts";
import { formTasks } from "./tasks/forms.ts";
import { libraryTasks } from "./tasks/libraries.ts";
import { pageTasks } from "./tasks/pages.ts";
import { readingTasks } from "./tasks/reading.ts";

/** All tasks of the evaluation. */
export const tasks: readonly Task[] = [
  ...formTasks,
  ...readingTasks,
  ...pageTasks,
  ...filesTasks,
  ...libraryTasks,
];
