import type { HostileInput } from "../hostile-input.ts";
import { call, DONE, servePage } from "./parts.ts";

const READS = 1_500;
const FILE_BYTES = 19_000_000;
const LOG_LINE_CHARS = 1_000;
const LOG_LINES = 200_000;

const RESULT_CHARS = 50_000_000;
const EVALUATIONS = 20_000;

const shell = (command: string) => call("run_shell", { command });
const script = (text: string) => call("browser_execute", { script: text, timeoutMs: 30_000 });

/** Inputs of scripts that a model wrote. */
export const scriptInputs: HostileInput[] = [
  {
    name: "script-reads",
    title: `a script that reads a file of 19 MB ${READS} times at once`,
    page: servePage('<input type="file" id="file">'),
    steps: () => [
      shell(`test -s big.bin || head -c ${FILE_BYTES} /dev/urandom > big.bin; ls -l big.bin`),
      script(
        `await Promise.allSettled(Array.from({ length: ${READS} }, () => page.setInputFiles("#file", "big.bin"))); return "read";`,
      ),
      DONE,
    ],
  },
  {
    name: "script-logs",
    title: `a script that logs ${LOG_LINES} lines`,
    page: servePage("<p>quiet</p>"),
    steps: () => [
      script(
        `const line = "x".repeat(${LOG_LINE_CHARS}); for (let n = 0; n < ${LOG_LINES}; n++) console.log(n, line); return "logged";`,
      ),
      DONE,
    ],
  },
  {
    name: "script-result",
    title: `a script that returns ${RESULT_CHARS} characters`,
    page: servePage("<p>quiet</p>"),
    steps: () => [script(`return "x".repeat(${RESULT_CHARS});`), DONE],
  },
  {
    name: "script-commands",
    title: `a script that evaluates in the page ${EVALUATIONS} times at once`,
    page: servePage("<p>quiet</p>"),
    steps: () => [
      script(
        `await Promise.allSettled(Array.from({ length: ${EVALUATIONS} }, (_, n) => page.evaluate((k) => k, n))); return "evaluated";`,
      ),
      DONE,
    ],
  },
];
