/** Which model a chat starts with (the chat's own, the one chosen last, the default) and its approval mode, and where
 * the choice is kept. */

import { useState } from "react";

import { useOperation } from "../../api/hooks";
import { keepModel, recentModel } from "../../app/recent";
import type { ModeName } from "./text";

const MODE = "toolcrib.chat.mode";

export interface ModelChoice {
  model: string;
  /** It was looked, and there is none. */
  none: boolean;
  setModel: (model: string) => void;
  /** For the chat at hand only; the next one begins as before. */
  lendModel: (model: string) => void;
  /** When to ask, as chosen here; null for what the settings say. */
  mode: ModeName | null;
  setMode: (mode: ModeName) => void;
}

export function useModelChoice(chat: string | null, chatModel: string | null): ModelChoice {
  const { data } = useOperation("models", {});
  const [choices, setChoices] = useState<Record<string, string>>({});
  const [mode, setMode] = useState<ModeName | null>(() => sessionStorage.getItem(MODE) as ModeName | null);
  const own = choices[chat ?? "new"];
  const model = own ?? chatModel ?? (recentModel() || (data?.model ?? ""));
  return {
    model,
    none: data !== undefined && model === "",
    setModel: (next) => {
      keepModel(next);
      setChoices({ ...choices, [chat ?? "new"]: next });
    },
    lendModel: (next) => setChoices({ ...choices, [chat ?? "new"]: next }),
    mode,
    setMode: (next) => {
      sessionStorage.setItem(MODE, next);
      setMode(next);
    },
  };
}
