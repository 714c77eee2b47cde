/** What is done with whole workflows: create, export, remove with undo; which names are allowed. */

import { run } from "../../../api/client";
import { sentence } from "../../../api/errors";
import { queries } from "../../../api/hooks";
import { notify } from "../../../app/notices";
import { emptyGraph, fileOf } from "../graph/file";
import { LIST } from "../text/list";

/** The name that a workflow gets for what was typed: `My report` becomes `my-report`. */
export function nameFrom(typed: string): string {
  return typed
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^[-_]+|-+$/g, "")
    .slice(0, 64);
}

export function refreshList(): void {
  void queries.invalidateQueries({ queryKey: ["workflow_list"] });
}

/** Save a new workflow; fails if the name is taken. */
export async function createWorkflow(name: string, file: Record<string, unknown> | null): Promise<void> {
  const workflow = { ...(file ?? fileOf(emptyGraph(name))), name };
  await run("workflow_save", { workflow, expected_version: "" });
  refreshList();
}

export async function exportWorkflow(name: string): Promise<void> {
  try {
    const file = await run("workflow_export", { name });
    const address = URL.createObjectURL(new Blob([file.text], { type: "application/json" }));
    Object.assign(document.createElement("a"), { href: address, download: file.file }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  } catch (error) {
    notify(sentence(error));
  }
}

/** Whether it is removed; it can be brought back from its last version. */
export async function removeWorkflow(name: string): Promise<boolean> {
  try {
    const { version } = await run("workflow_remove", { name });
    refreshList();
    notify(LIST.removed(name), () => void restore(name, version));
    return true;
  } catch (error) {
    notify(sentence(error));
    return false;
  }
}

async function restore(name: string, version: string): Promise<void> {
  try {
    const kept = await run("workflow_get", { name, version });
    await createWorkflow(name, { ...kept.workflow });
    notify(LIST.restored(name));
  } catch (error) {
    notify(sentence(error));
  }
}
