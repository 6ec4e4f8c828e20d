/**
 * A step that cannot go on, told in a sentence a newcomer can act on; the runner prints it without a stack.
 * `details` is the whole output of the command that failed.
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
