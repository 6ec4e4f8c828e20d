type Table = Record<string, Record<string, string>>;

/** The states of a table: those with a row, and those that only stand in a cell. */
type StateOf<T extends Table> = (keyof T | { [S in keyof T]: T[S][keyof T[S]] }[keyof T]) & string;

/** The events of a table. */
export type EventOf<T extends Table> = { [S in keyof T]: keyof T[S] }[keyof T] & string;

/**
 * A state machine as a table of state → event → next state. `next` is pure; the caller makes the move in the
 * database as a compare-and-set on the state it came from.
 */
export function machine<const T extends Table>(name: string, table: T) {
  return {
    /** The state that follows. @throws Error for an event that has no cell in this state: a bug of the caller. */
    next(state: StateOf<T>, event: EventOf<T>): StateOf<T> {
      const to = table[state]?.[event];
      if (to === undefined) throw new Error(`${name}: no move from ${state} by ${event}`);
      return to as StateOf<T>;
    },
    /** Whether the event has a cell in this state. */
    can: (state: StateOf<T>, event: EventOf<T>): boolean => table[state]?.[event] !== undefined,
  };
}
