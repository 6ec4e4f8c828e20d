/**
 * The failure of a step, with a message that tells the user what to do. The runner prints it without a stack trace.
 * `details` is the whole output of the failed command.
 */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {string} [details]
   */
  constructor(message, details = "") {
    super(message);
    this.name = "SetupError";
    this.details = details;
  }
}
