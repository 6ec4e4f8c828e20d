"use client";

import { useEffect } from "react";
import { type NotificationSwitch, notify, useNotificationSwitch } from "#components/ui/notifications.ts";
import { describeNotification } from "#lib/page/labels/describe-notification.ts";
import { useRuntime } from "../runtime/session-context.tsx";

/** Notifies the person when the agent asks or its turn ends while the tab is hidden, if the person has switched that on. */
export function useNotifications(): NotificationSwitch {
  const { store } = useRuntime();
  const { notifications, toggle } = useNotificationSwitch();
  useEffect(() => {
    if (notifications !== "on") return;
    let before = store.getState();
    return store.subscribe(() => {
      const words = describeNotification(before, store.getState());
      before = store.getState();
      if (words !== null && document.hidden) notify(words);
    });
  }, [notifications, store]);
  return { notifications, toggle };
}
