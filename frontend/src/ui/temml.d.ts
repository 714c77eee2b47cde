/** Temml without its package for chemistry. */
declare module "temml/temml.js" {
  export { default } from "temml";
}
