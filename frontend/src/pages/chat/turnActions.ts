/** What a user does in a chat: send, stop, stop one call, run again, continue, fork, edit, regenerate. Calls the host's
 * operations. */

import { useCallback, useEffect, useMemo, useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { navigate, setSearch } from "../../app/router";
import type { Actions } from "./actions";
import { attachedPicture, attachedText } from "./attachments";
import type { ModelChoice } from "./modelChoice";
import type { Draft } from "./Composer";
import { forkChat, refreshChats } from "./chatActions";
import type { Choice } from "./Offered";
import type { TurnView } from "./view";

export interface TurnActions {
  actions: Actions;
  send: (draft: Draft) => Promise<boolean>;
  stop: () => void;
  state: "idle" | "sending" | "stopping";
  trouble: string;
  /** How often something was sent. */
  sent: number;
  /** What is put into the field from outside; the count tells a new one from the same again. */
  given: Draft & { count: number };
  give: (draft: Partial<Draft>) => void;
  editing: boolean;
  cancelEdit: () => void;
}

/** The chat as it is, at its end. */
const HERE = { version: null, at: null, find: null };
const EMPTY: Draft = { text: "", images: [], files: [] };

/** A question as it was sent, to be changed. */
async function draftOf(chat: string, turn: TurnView): Promise<Draft> {
  const { text = "", images = [], files = [] } = turn.question ?? {};
  const texts = await Promise.all(files.map((file) => run("chat_file", { chat, key: file.key })));
  return { text, images: images.map(attachedPicture), files: texts.map((file) => attachedText(file.name, file.text)) };
}

export function useTurnActions(
  chat: string | null,
  running: boolean,
  chosen: ModelChoice,
  choice: Choice,
  showOffered: () => void,
): TurnActions {
  const [state, setState] = useState<TurnActions["state"]>("idle");
  const [trouble, setTrouble] = useState("");
  const [sent, setSent] = useState(0);
  const [given, setGiven] = useState({ ...EMPTY, count: 0 });
  const [editing, setEditing] = useState<number | null>(null);
  const { model, mode } = chosen;

  useEffect(() => {
    setTrouble("");
    setEditing(null);
  }, [chat]);
  useEffect(() => {
    if (!running) setState((now) => (now === "stopping" ? "idle" : now));
  }, [running]);

  const give = useCallback(
    (draft: Partial<Draft>) => setGiven((before) => ({ ...EMPTY, ...draft, count: before.count + 1 })),
    [],
  );
  const fail = useCallback((failure: unknown) => setTrouble(sentence(failure)), []);

  const send = useCallback(
    async (draft: Draft): Promise<boolean> => {
      setState("sending");
      setTrouble("");
      try {
        const begun = await run("chat_send", {
          text: draft.text,
          chat,
          model: model || null,
          mode,
          images: draft.images.map(({ data, mime }) => ({ data, mime })),
          files: draft.files.map(({ name, text }) => ({ name, text })),
          replaces: editing,
          ...(chat === null || choice.changed ? { pinned: [...choice.pinned], banned: [...choice.banned] } : {}),
        });
        setEditing(null);
        setSearch(HERE);
        setSent((count) => count + 1);
        if (begun.chat !== chat) navigate(`/chat/${begun.chat}`);
        return true;
      } catch (failure) {
        fail(failure);
        return false;
      } finally {
        setState("idle");
        refreshChats();
      }
    },
    [chat, choice, model, mode, editing, fail],
  );

  const stop = useCallback(() => {
    if (chat === null) return;
    setState("stopping");
    run("chat_stop", { chat }).catch((failure: unknown) => {
      setState("idle");
      fail(failure);
    });
  }, [chat, fail]);

  const actions = useMemo<Actions>(
    () => ({
      chat: chat ?? "",
      busy: running,
      again: (call) => {
        const what = call.began === null ? { call: call.id } : { tool: call.tool, arguments: call.arguments };
        run("call_again", { chat: chat ?? "", mode, ...what }).catch(fail);
      },
      stop,
      stopCall: (call) => run("call_stop", { chat: chat ?? "", call: call.id }).then(() => undefined, fail),
      send: (text) => void send({ ...EMPTY, text }),
      model,
      retry: (turn) => {
        setTrouble("");
        setSearch(HERE);
        run("chat_retry", { chat: chat ?? "", position: turn.position, model: model || null, mode }).then(
          () => setSent((count) => count + 1),
          fail,
        );
      },
      resume: () => {
        setTrouble("");
        run("chat_continue", { chat: chat ?? "", model: model || null, mode }).then(
          () => setSent((count) => count + 1),
          fail,
        );
      },
      forkAt: (entries) => {
        if (chat !== null) void forkChat(chat, entries).then((fork) => fork && navigate(`/chat/${fork}`));
      },
      edit: (turn) => {
        draftOf(chat ?? "", turn).then((draft) => {
          setEditing(turn.position);
          give(draft);
        }, fail);
      },
      showVersion: (version) =>
        setSearch({
          ...HERE,
          version: version?.until === undefined || version.until === null ? null : String(version.until),
          at: version ? String(version.position) : null,
        }),
      showOffered,
    }),
    [chat, running, stop, send, model, mode, fail, give, showOffered],
  );
  return {
    actions,
    send,
    stop,
    state,
    trouble,
    sent,
    given,
    give,
    editing: editing !== null,
    cancelEdit: () => setEditing(null),
  };
}
