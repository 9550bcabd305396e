import "zone.js";
import "@angular/compiler";
import { Component, Inject, inject, provideZoneChangeDetection } from "@angular/core";
import { FormControl, FormsModule, ReactiveFormsModule, Validators } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import { MatAutocompleteModule } from "@angular/material/autocomplete";
import { MatButtonModule } from "@angular/material/button";
import { MatButtonToggleModule } from "@angular/material/button-toggle";
import { MatCheckboxModule } from "@angular/material/checkbox";
import { MatChipsModule } from "@angular/material/chips";
import { provideNativeDateAdapter } from "@angular/material/core";
import { MatDatepickerModule } from "@angular/material/datepicker";
import { MatDialog, MatDialogModule } from "@angular/material/dialog";
import { MatExpansionModule } from "@angular/material/expansion";
import { MatInputModule } from "@angular/material/input";
import { MatMenuModule } from "@angular/material/menu";
import { MatPaginatorModule } from "@angular/material/paginator";
import { MatRadioModule } from "@angular/material/radio";
import { MatSelectModule } from "@angular/material/select";
import { MatSlideToggleModule } from "@angular/material/slide-toggle";
import { MatSliderModule } from "@angular/material/slider";
import { MatSnackBar } from "@angular/material/snack-bar";
import { MatSortModule } from "@angular/material/sort";
import { MatStepperModule } from "@angular/material/stepper";
import { MatTableModule } from "@angular/material/table";
import { MatTabsModule } from "@angular/material/tabs";
import { MatTooltipModule } from "@angular/material/tooltip";
import { MatTreeModule } from "@angular/material/tree";
import "../node_modules/@angular/material/prebuilt-themes/azure-blue.css";

const tell = (window as any).tell;

@Component({ selector: "app-question", imports: [MatDialogModule, MatButtonModule], template: `<h2 mat-dialog-title>Delete file</h2><mat-dialog-content>Would you like to delete cat.jpeg?</mat-dialog-content><mat-dialog-actions><button mat-button mat-dialog-close>No</button><button mat-button [mat-dialog-close]="true">Ok</button></mat-dialog-actions>` })
class Question {}

@Component({
  selector: "app-root",
  imports: [FormsModule, ReactiveFormsModule, MatAutocompleteModule, MatButtonModule, MatButtonToggleModule, MatCheckboxModule, MatChipsModule, MatDatepickerModule, MatDialogModule, MatExpansionModule, MatInputModule, MatMenuModule, MatPaginatorModule, MatRadioModule, MatSelectModule, MatSlideToggleModule, MatSliderModule, MatSortModule, MatStepperModule, MatTableModule, MatTabsModule, MatTooltipModule, MatTreeModule],
  providers: [provideNativeDateAdapter()],
  template: `<h1>Angular Material</h1>
    <mat-form-field><mat-label>Favorite food</mat-label><mat-select [(value)]="food" (selectionChange)="tell('food', $event.value)">@for (each of foods; track each) { <mat-option [value]="each">{{ each }}</mat-option> }</mat-select></mat-form-field>
    <mat-form-field><mat-label>Toppings</mat-label><mat-select multiple [(value)]="toppings" (selectionChange)="tell('toppings', $event.value)">@for (each of all; track each) { <mat-option [value]="each">{{ each }}</mat-option> }</mat-select></mat-form-field>
    <mat-form-field><mat-label>Number</mat-label><input matInput [matAutocomplete]="auto" [(ngModel)]="typed"><mat-autocomplete #auto="matAutocomplete" (optionSelected)="tell('number', $event.option.value)">@for (each of numbers(); track each) { <mat-option [value]="each">{{ each }}</mat-option> }</mat-autocomplete></mat-form-field>
    <mat-form-field><mat-label>Choose a date</mat-label><input matInput [matDatepicker]="picker" [value]="day" (dateChange)="tell('day', $event.value.getDate())"><mat-datepicker-toggle matIconSuffix [for]="picker" /><mat-datepicker #picker /></mat-form-field>
    <mat-form-field><mat-label>Email</mat-label><input matInput [formControl]="email">@if (email.invalid) { <mat-error>Not a valid email</mat-error> }</mat-form-field>
    <mat-checkbox (change)="tell('agree', $event.checked)">Check me!</mat-checkbox><mat-slide-toggle (change)="tell('slide', $event.checked)">Slide me!</mat-slide-toggle>
    <mat-radio-group aria-label="Season" (change)="tell('season', $event.value)"><mat-radio-button value="1">Winter</mat-radio-button><mat-radio-button value="2">Spring</mat-radio-button></mat-radio-group>
    <mat-slider min="0" max="100"><input matSliderThumb aria-label="Volume" value="30" (valueChange)="tell('volume', $event)"></mat-slider>
    <mat-button-toggle-group aria-label="Font Style" (change)="tell('style', $event.value)"><mat-button-toggle value="bold">Bold</mat-button-toggle><mat-button-toggle value="italic">Italic</mat-button-toggle></mat-button-toggle-group>
    <mat-chip-set aria-label="Fruits">@for (each of fruits; track each) { <mat-chip (removed)="remove(each)">{{ each }}<button matChipRemove [attr.aria-label]="'remove ' + each">×</button></mat-chip> }</mat-chip-set>
    <mat-chip-listbox aria-label="Fish" (change)="tell('fish', $event.value)"><mat-chip-option value="one">One fish</mat-chip-option><mat-chip-option value="two">Two fish</mat-chip-option></mat-chip-listbox>
    <button mat-button [matMenuTriggerFor]="menu">Animal index</button><mat-menu #menu="matMenu"><button mat-menu-item [matMenuTriggerFor]="sub">Vertebrates</button><button mat-menu-item (click)="tell('animal', 'worm')">Worm</button></mat-menu><mat-menu #sub="matMenu"><button mat-menu-item (click)="tell('animal', 'fish')">Fishes</button></mat-menu>
    <button mat-button (click)="ask()">Delete</button><button mat-button (click)="say()" matTooltip="Info about the snack">Show snack-bar</button>
    <mat-tab-group (selectedTabChange)="tell('tab', $event.tab.textLabel)"><mat-tab label="First">Content 1</mat-tab><mat-tab label="Second">Content 2</mat-tab></mat-tab-group>
    <mat-accordion><mat-expansion-panel (opened)="tell('panel', 'open')"><mat-expansion-panel-header><mat-panel-title>Personal data</mat-panel-title><mat-panel-description>Type your name</mat-panel-description></mat-expansion-panel-header><p>Panel text</p></mat-expansion-panel></mat-accordion>
    <table mat-table [dataSource]="rows" matSort (matSortChange)="tell('sorted', [$event.active, $event.direction])"><ng-container matColumnDef="name"><th mat-header-cell *matHeaderCellDef mat-sort-header>Name</th><td mat-cell *matCellDef="let row">{{ row.name }}</td></ng-container><ng-container matColumnDef="weight"><th mat-header-cell *matHeaderCellDef mat-sort-header>Weight</th><td mat-cell *matCellDef="let row">{{ row.weight }}</td></ng-container><tr mat-header-row *matHeaderRowDef="['name', 'weight']"></tr><tr mat-row *matRowDef="let row; columns: ['name', 'weight']" (click)="tell('row', row.name)" style="cursor: pointer"></tr></table>
    <mat-paginator [length]="100" [pageSize]="10" [pageSizeOptions]="[5, 10, 25]" aria-label="Select page" (page)="tell('page', [$event.pageIndex, $event.pageSize])" />
    <mat-tree [dataSource]="tree" [childrenAccessor]="children"><mat-tree-node *matTreeNodeDef="let node" matTreeNodePadding (click)="tell('node', node.name)">{{ node.name }}</mat-tree-node><mat-tree-node *matTreeNodeDef="let node; when: isParent" matTreeNodePadding matTreeNodeToggle><button mat-button matTreeNodeToggle [attr.aria-label]="'Toggle ' + node.name">▸</button>{{ node.name }}</mat-tree-node></mat-tree>
    <mat-stepper (selectionChange)="tell('step', $event.selectedIndex)"><mat-step label="Fill out your name">Step one<button mat-button matStepperNext>Next</button></mat-step><mat-step label="Done">You are now done.</mat-step></mat-stepper>`,
})
class App {
  tell = tell;
  foods = ["Steak", "Pizza", "Tacos"];
  food = "Pizza";
  all = ["Extra cheese", "Mushroom", "Onion"];
  toppings = ["Onion"];
  typed = "";
  day = new Date(2026, 3, 17);
  email = new FormControl("", [Validators.required, Validators.email]);
  fruits = ["Lemon", "Lime"];
  rows = [{ name: "Hydrogen", weight: 1.0079 }, { name: "Helium", weight: 4.0026 }];
  tree = [{ name: "Fruit", children: [{ name: "Apple" }, { name: "Banana" }] }];
  dialog = inject(MatDialog);
  snack = inject(MatSnackBar);
  children = (node: any) => node.children ?? [];
  isParent = (_: number, node: any) => Boolean(node.children);
  numbers() { return ["One", "Two", "Three"].filter((each) => each.toLowerCase().includes(this.typed.toLowerCase())); }
  remove(fruit: string) { this.fruits = this.fruits.filter((each) => each !== fruit); tell("fruits", this.fruits); }
  ask() { this.dialog.open(Question).afterClosed().subscribe((answer) => tell("deleted", answer)); }
  say() { this.snack.open("Disco party!", "Dance").onAction().subscribe(() => tell("danced", true)); }
}

bootstrapApplication(App, { providers: [provideZoneChangeDetection()] });
