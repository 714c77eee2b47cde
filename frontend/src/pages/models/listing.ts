/** The models of a list as options to choose from: context length and price in words ("1M tokens · $2 in, $10 out"), and
 * which ones fit what was typed. Pure. */

import type { ListedModel, Vendor } from "../../api/types";
import { count } from "../../ui/amounts";

export interface ModelOption {
  value: string;
  about: string;
}

/** As many are drawn; the rest is found by typing. */
export const SHOWN = 50;

/** Options by their names, which begin with `vendor:` if a vendor is given. */
export function optionsOf(models: readonly ListedModel[], vendor = ""): ModelOption[] {
  return models.map((model) => ({ value: vendor ? `${vendor}:${model.name}` : model.name, about: aboutModel(model) }));
}

export function aboutModel({ context, input, output }: ListedModel): string {
  const parts = [context ? `${count(context).replace(".0", "")} tokens` : "", price(input, output)];
  return parts.filter(Boolean).join(" · ");
}

function price(input: number | null, output: number | null): string {
  if (input === null || output === null) return "";
  return input === 0 && output === 0 ? "free" : `$${input} in, $${output} out`;
}

/** Those that have all words in their names; all, if one of them was typed whole. */
export function matching(options: readonly ModelOption[], typed: string): readonly ModelOption[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (options.some((option) => option.value === typed)) return options;
  return options.filter(({ value }) => words.every((word) => value.toLowerCase().includes(word)));
}

/** Vendors and addresses that can be asked for a list. */
export function listable(vendors: readonly Vendor[]): Vendor[] {
  return vendors.filter((vendor) => vendor.ready && vendor.vendor !== "demo");
}
