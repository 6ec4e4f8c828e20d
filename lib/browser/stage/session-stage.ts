import { shorten } from "#lib/text/shorten.ts";
import type { OpenBrowser } from "../page/open-browser.ts";
import {
  type ActionOutcome,
  DONE,
  type LoadFailure,
  refuseAction,
  type StageAction,
  type StageState,
} from "./stage-state.ts";

/** What viewers of one session see of its browser in addition to the picture, and what people do with it. */
export type SessionStage = {
  /** Subscribes to the state: first to the current one, then to each change. @returns a function that unsubscribes. */
  watch: (listener: (state: StageState) => void) => () => void;
  /** Whether a person has control, and a viewer shows the controls that wait for a person. */
  isPersonThere: () => boolean;
  /** Call it when the state may have changed. */
  noteChange: () => void;
  /** Notes that a document could not be shown. */
  noteFailure: (failure: Pick<LoadFailure, "url" | "kind" | "reason"> | undefined) => void;
  /** Does what the person who has control wants. The caller has checked who has control. */
  act: (action: StageAction) => Promise<ActionOutcome>;
};

/** Who has control of browsers, as far as it is known here. */
export type ControlState = {
  holderOf: (sessionId: string) => string | undefined;
  follow: (sessionId: string, listener: () => void) => () => void;
  /** Whether nothing of the session's pages may be kept now. */
  isPrivate: (sessionId: string) => boolean;
  /** Reads whether the browser is handed over to people. */
  readHandover: (sessionId: string) => Promise<void>;
};

type Deps = {
  sessionId: string;
  control: ControlState;
  /** Returns the browser that runs. */
  running: () => OpenBrowser | undefined;
};

/** Shortest time between two states. A page can change its title or its dialogs endlessly. */
const PACE_MS = 50;
/** How often the titles of several tabs are read while people watch. */
const TITLES_MS = 1_000;
const URL_CHARS_MAX = 2_000;

type Stage = Deps & {
  listeners: Set<(state: StageState) => void>;
  failure: LoadFailure | null;
  failures: number;
  /** The last state that was sent, as JSON. */
  sent: string;
  /** Undefined while no state is to be sent. */
  pace: NodeJS.Timeout | undefined;
  /** Ends what runs while people watch. */
  stopWatching: (() => void) | undefined;
};

/** Creates the {@link SessionStage}. */
export function createSessionStage(deps: Deps): SessionStage {
  const stage: Stage = {
    ...deps,
    listeners: new Set(),
    failure: null,
    failures: 0,
    sent: "",
    pace: undefined,
    stopWatching: undefined,
  };
  return {
    watch: (listener) => watch(stage, listener),
    isPersonThere: () => isPersonThere(stage),
    noteChange: () => send(stage),
    noteFailure(failure) {
      if (!failure && !stage.failure) return;
      stage.failures += 1;
      stage.failure = failure ? { ...failure, id: stage.failures } : null;
      send(stage);
    },
    act: (action) => act(stage, action),
  };
}

const isPersonThere = ({ control, sessionId, listeners }: Stage): boolean =>
  listeners.size > 0 && control.holderOf(sessionId) !== undefined;

function watch(stage: Stage, listener: (state: StageState) => void): () => void {
  // A new function for each call, so that the same listener can be added twice.
  const entry = (state: StageState) => listener(state);
  stage.listeners.add(entry);
  entry(readState(stage));
  stage.stopWatching ??= beginWatching(stage);
  return () => {
    if (!stage.listeners.delete(entry) || stage.listeners.size > 0) return;
    stage.stopWatching?.();
    stage.stopWatching = undefined;
    stage.running()?.widgets.recheck();
  };
}

function beginWatching(stage: Stage): () => void {
  const stopFollowing = stage.control.follow(stage.sessionId, () => {
    stage.running()?.widgets.recheck();
    send(stage);
  });
  const titles = setInterval(() => {
    const tabs = stage.running()?.tabs() ?? [];
    if (tabs.length > 1) for (const { tab } of tabs) void tab.refresh();
    // The loading of a document is not announced in all cases.
    send(stage);
  }, TITLES_MS);
  titles.unref();
  return () => {
    stopFollowing();
    clearInterval(titles);
    clearTimeout(stage.pace);
    stage.pace = undefined;
  };
}

/** Sends the state soon, if it has changed. */
function send(stage: Stage): void {
  if (stage.listeners.size === 0) return;
  stage.pace ??= setTimeout(() => {
    stage.pace = undefined;
    const state = readState(stage);
    const json = JSON.stringify(state);
    if (json === stage.sent) return;
    stage.sent = json;
    for (const listener of [...stage.listeners]) listener(state);
  }, PACE_MS).unref();
}

function readState({ running, failure }: Stage): StageState {
  const browser = running();
  if (!browser?.isOpen()) return { tabs: [], isLoading: false, failure: null, widget: null };
  const tabs = browser.tabs();
  const shown = tabs.find(({ isShown }) => isShown);
  return {
    tabs: tabs.map(({ id, page, tab, isShown }) => ({
      id,
      title: tab.title(),
      url: shorten(page.url(), URL_CHARS_MAX),
      isShown,
    })),
    isLoading: shown
      ? shown.isNavigating() || browser.documents.of(shown.page.mainFrame()) !== undefined
      : false,
    failure,
    widget: browser.widgets.current() ?? null,
  };
}

async function act(stage: Stage, action: StageAction): Promise<ActionOutcome> {
  const browser = stage.running();
  if (!browser) return refuseAction("no browser runs");
  switch (action.type) {
    case "answer":
      return browser.widgets.answer(action.widgetId, action.answer);
    case "addFile":
      return browser.widgets.addFile(action.widgetId, action.file);
    case "stop":
      await browser.selected().stop();
      return DONE;
    case "showTab": {
      if (!browser.tabs().some(({ id }) => id === action.tabId)) return TAB_GONE;
      browser.select(action.tabId);
      return DONE;
    }
    case "closeTab":
      return browser.closeTab(action.tabId);
  }
}

const TAB_GONE = refuseAction("the tab was closed already");
