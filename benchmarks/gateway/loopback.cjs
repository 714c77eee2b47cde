// Keeps a program under test on loopback: whatever address it asks for, it listens there.
const { Server } = require("net");
const listen = Server.prototype.listen;

Server.prototype.listen = function (first, ...rest) {
  const options = typeof first === "object" && first !== null ? { ...first } : { port: Number(first) };
  if (options.path !== undefined) return listen.call(this, first, ...rest);
  const callback = rest.find((argument) => typeof argument === "function");
  return listen.call(this, { ...options, host: "127.0.0.1" }, callback);
};
