/** The actions that every part of a conversation can call, such as run again, stop, fork, edit. */

import { createContext, useContext } from "react";

import type { CallView } from "./view";

export interface Actions {
  chat: string;
  /** A turn runs: nothing else can begin in this chat. */
  busy: boolean;
  again: (call: CallView) => void;
  stop: () => void;
  /** End this call alone; the answer goes on without it. */
  stopCall: (call: CallView) => Promise<void>;
  send: (text: string) => void;
  /** Continue the last answer, which ended early. */
  resume: () => void;
  forkAt: (entries: number | null) => void;
  edit: (position: number, text: string) => void;
  showOffered: () => void;
}

const nothing = () => undefined;

export const ActionsContext = createContext<Actions>({
  chat: "",
  busy: false,
  again: nothing,
  stop: nothing,
  stopCall: () => Promise.resolve(),
  send: nothing,
  resume: nothing,
  forkAt: nothing,
  edit: nothing,
  showOffered: nothing,
});

export function useActions(): Actions {
  return useContext(ActionsContext);
}
