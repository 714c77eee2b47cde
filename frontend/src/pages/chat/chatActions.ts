/** What is done with whole chats: pin, fork, export to a file, delete with undo, save as workflow. The host does the work,
 * and names the exported file. */

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, refreshSoon } from "../../api/hooks";
import { live } from "../../api/live";
import { notify } from "../../app/notices";
import { navigate } from "../../app/router";
import { giveDraft } from "../../app/workflowDraft";
import { TEXT } from "./text";

export function refreshChats(): void {
  void queries.invalidateQueries({ queryKey: ["chats"] });
}

/** Events that change the state of a chat in the list; text does not. */
const STATE_EVENTS = new Set<string>(["question", "asking", "answered", "ended"]);
live.listen((event) => {
  if (event.kind === "chat" && STATE_EVENTS.has(event.event.event)) refreshSoon("chats");
});

/** A new chat that begins as this one did, with so many of its entries; all when null. */
export async function forkChat(chat: string, entries: number | null): Promise<string | null> {
  try {
    const fork = await run("chat_fork", { chat, entries });
    refreshChats();
    return fork.id;
  } catch (error) {
    notify(sentence(error));
    return null;
  }
}

/** On the host: every browser has the same pins. */
export async function pinChat(chat: string, pinned: boolean): Promise<void> {
  try {
    await run("chat_pin", { chat, pinned });
    refreshChats();
  } catch (error) {
    notify(sentence(error));
  }
}

export async function exportChat(chat: string, form: "markdown" | "json"): Promise<void> {
  try {
    const file = await run("chat_export", { chat, form });
    const address = URL.createObjectURL(new Blob([file.text], { type: file.mime }));
    const link = Object.assign(document.createElement("a"), { href: address, download: file.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  } catch (error) {
    notify(sentence(error));
  }
}

export async function deleteChat(chat: string, title: string): Promise<void> {
  try {
    await run("chat_delete", { chat });
    navigate("/chat");
    refreshChats();
    notify(TEXT.deleted(title), () => void restore(chat, title));
  } catch (error) {
    notify(sentence(error));
  }
}

async function restore(chat: string, title: string): Promise<void> {
  try {
    await run("chat_restore", { chat });
    refreshChats();
    navigate(`/chat/${chat}`);
    notify(TEXT.restored(title));
  } catch (error) {
    notify(sentence(error));
  }
}

/** Make a workflow of the chat's calls; it is looked at and named on the Workflows page. */
export async function saveAsWorkflow(chat: string): Promise<void> {
  try {
    const made = await run("workflow_from_chat", { chat });
    giveDraft({ workflow: { ...made.workflow }, doubts: made.doubts.map((one) => one.message) });
    navigate("/workflows?new=draft");
  } catch (error) {
    notify(sentence(error));
  }
}
