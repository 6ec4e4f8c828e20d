"use client";

import { useCallback, useEffect, useState } from "react";
import { describeNotification } from "#lib/page/labels/describe-notification.ts";
import { useRuntime } from "../runtime/session-context.tsx";

const KEY = "agent-session-notifications";
const BODY_CHARACTERS_MAX = 200;

/** `unsupported`: the browser has none, or the page has no TLS. `refused`: the person has refused them in the browser. */
type NotificationState = "unsupported" | "off" | "on" | "refused";

/**
 * Notifies the person when the agent asks or its turn ends while the tab is hidden, if the person has switched that on.
 *
 * @returns whether it is on, and a function that switches it. Only a click may call the function, because it asks the
 * browser for the permission.
 */
export function useNotifications(): { notifications: NotificationState; toggle: () => Promise<void> } {
  const { store } = useRuntime();
  const [notifications, setNotifications] = useState<NotificationState>("unsupported");
  useEffect(() => setNotifications(readState()), []);
  useEffect(() => {
    if (notifications !== "on") return;
    let before = store.getState();
    return store.subscribe(() => {
      const words = describeNotification(before, store.getState());
      before = store.getState();
      if (words === null || !document.hidden) return;
      const { title, body, tag } = words;
      notify(title, body.slice(0, BODY_CHARACTERS_MAX), tag);
    });
  }, [notifications, store]);
  const toggle = useCallback(async () => {
    const isOn = readState() === "on";
    if (!isOn && Notification.permission === "default") await Notification.requestPermission();
    localStorage.setItem(KEY, isOn ? "off" : "on");
    setNotifications(readState());
  }, []);
  return { notifications, toggle };
}

function notify(title: string, body: string, tag: string): void {
  try {
    const shown = new Notification(title, { body, tag });
    shown.onclick = () => {
      window.focus();
      shown.close();
    };
  } catch {
    // Chrome on Android lets only service workers show notifications. The title of the tab shows the state as well.
  }
}

function readState(): NotificationState {
  if (typeof Notification === "undefined" || !window.isSecureContext) return "unsupported";
  if (Notification.permission === "denied") return "refused";
  try {
    return Notification.permission === "granted" && localStorage.getItem(KEY) === "on" ? "on" : "off";
  } catch {
    return "unsupported";
  }
}
