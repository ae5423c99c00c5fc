// Search from the disk: browsers start no worker from a file, so its script runs in a hidden frame instead.
(function () {
  if (location.protocol !== "file:") return;

  function load(frame, url) {
    return new Promise(function (resolve, reject) {
      const script = frame.contentDocument.createElement("script");
      script.src = url;
      script.onload = resolve;
      script.onerror = reject;
      frame.contentDocument.body.appendChild(script);
    });
  }

  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) =>
        urls.reduce((done, next) => done.then(() => load(this.frame, next)), Promise.resolve());
      this.ready = load(this.frame, new URL(url, location.href).href);
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.IFrameWorker = IFrameWorker; // the worker's script looks for this name
  window.Worker = IFrameWorker;
})();
