"use strict";
(function () {
  var table = document.getElementById("cases");
  var form = document.getElementById("filters");
  if (!table || !form) { return; }
  var rows = Array.prototype.slice.call(table.tBodies[0].rows);
  var texts = null;
  var word = document.getElementById("filter-text");
  var state = document.getElementById("filter-result");
  var count = document.getElementById("filter-count");
  var timer = 0;
  function apply() {
    var wanted = word.value.toLowerCase();
    var result = state.value;
    var shown = 0;
    texts = texts || rows.map(function (row) { return row.textContent.toLowerCase(); });
    rows.forEach(function (row, index) {
      var fits = (result === "" || row.dataset.result === result) && texts[index].indexOf(wanted) !== -1;
      row.hidden = !fits;
      if (fits) { shown += 1; }
    });
    count.textContent = shown + " of " + rows.length + " cases shown";
  }
  form.hidden = false;
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.addEventListener("input", function () { clearTimeout(timer); timer = setTimeout(apply, 120); });
  count.textContent = rows.length + " of " + rows.length + " cases shown";
})();
