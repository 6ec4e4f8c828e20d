/** Shows the progress of the setup steps: one line for each step, with the elapsed time. */
import { stdout } from "node:process";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;
const reminderMs = 15_000;

/** @typedef {(detail: string) => void} ShowDetail shows what a step is doing, in a few words */

/**
 * Runs one step and shows its progress: on a terminal a spinner with the elapsed time, elsewhere plain lines.
 * @template T
 * @param {string} title a phrase such as "Installing packages"
 * @param {(showDetail: ShowDetail) => Promise<T>} work
 * @returns {Promise<T>} the result of the work. A result of false or null is shown as failed. Errors are rethrown.
 */
export async function showStep(title, work) {
  const isTerminal = stdout.isTTY === true && process.env.CI !== "true";
  const startedAt = Date.now();
  let detail = "";
  const ticker = isTerminal ? startSpinner(renderLine) : startReminders(renderLine);
  function renderLine() {
    return `${title}${detail === "" ? "" : ` · ${detail}`} (${formatSeconds(Date.now() - startedAt)})`;
  }
  if (!isTerminal) console.log(`… ${title}`);
  try {
    const result = await work((text) => {
      detail = text.trim().slice(0, 60);
    });
    const mark = result === false || result === null ? "✗" : "✓";
    ticker.end(`${mark} ${title} (${formatSeconds(Date.now() - startedAt)})`);
    return result;
  } catch (error) {
    ticker.end(`✗ ${title} (${formatSeconds(Date.now() - startedAt)})`);
    throw error;
  }
}

/**
 * Prints that a command failed and that the setup continues without it, with the last line of the command's output.
 * @param {string} what a phrase such as "Installing bubblewrap failed"
 * @param {import("./command.mjs").CommandResult} result
 */
export function warnFailure(what, { output, timedOut }) {
  const reason = timedOut ? "it took too long" : output.trim().split("\n").at(-1) || "without a message";
  console.log(`! ${what}: ${reason}`);
}

/**
 * Formats a duration: "0.4 s" below ten seconds, "17 s" below two minutes, otherwise "2 min 5 s".
 * @param {number} durationMs
 */
export function formatSeconds(durationMs) {
  const seconds = durationMs / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** @param {() => string} renderLine */
function startSpinner(renderLine) {
  let frame = 0;
  const draw = () => {
    const line = `${frames[frame++ % frames.length]} ${renderLine()}`;
    stdout.write(`\r\x1b[2K${line.slice(0, Math.max(20, (stdout.columns || 80) - 1))}`);
  };
  draw();
  const timer = setInterval(draw, frameMs);
  return {
    /** @param {string} line */
    end(line) {
      clearInterval(timer);
      stdout.write(`\r\x1b[2K${line}\n`);
    },
  };
}

/** @param {() => string} renderLine */
function startReminders(renderLine) {
  const timer = setInterval(() => console.log(`… ${renderLine()}`), reminderMs);
  return {
    /** @param {string} line */
    end(line) {
      clearInterval(timer);
      console.log(line);
    },
  };
}
