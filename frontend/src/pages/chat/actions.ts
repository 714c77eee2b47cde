/** The actions that every part of a conversation can call, such as run again, stop, fork, edit. */

import { createContext, useContext } from "react";

import type { QuestionVersion } from "../../api/types";
import type { CallView, TurnView } from "./view";

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
  /** Put the question of this turn into the field; what is sent then replaces it. */
  edit: (turn: TurnView) => void;
  /** Answer the question of this turn again, with the model chosen now. */
  retry: (turn: TurnView) => void;
  /** The model that would answer. */
  model: string;
  /** Show the chat as it was with this version of a question; null for how it is. */
  showVersion: (version: QuestionVersion | null) => void;
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
  retry: nothing,
  model: "",
  showVersion: nothing,
  showOffered: nothing,
});

export function useActions(): Actions {
  return useContext(ActionsContext);
}
