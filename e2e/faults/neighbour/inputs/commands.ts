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
  {
    name: "shell-output",
    title: "a command that prints without end",
    steps: () => [call("run_shell", { command: "yes 0123456789012345678901234567890123456789" }), DONE],
  },
  {
    name: "shell-processes",
    title: "a command that starts processes which compute without end",
    steps: () => [
      call("run_shell", {
        command: "for n in $(seq 30); do (while :; do :; done) & done; wait",
        timeoutMs: 20_000,
      }),
      DONE,
    ],
  },
];
