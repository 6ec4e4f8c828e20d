import type { HostileInput } from "../hostile-input.ts";
import { call, DONE } from "./parts.ts";

const FILES = 12;
const FILE_MB = 250;

/** Inputs of shell commands. */
export const commandInputs: HostileInput[] = [
  {
    name: "shell-quota",
    title: `a command that allocates ${FILES} files of ${FILE_MB} MB`,
    steps: () => [
      call("run_shell", {
        command: `for n in $(seq ${FILES}); do fallocate -l ${FILE_MB}M file$n || break; done; du -sm .; rm -f file*`,
      }),
      DONE,
    ],
  },
];
